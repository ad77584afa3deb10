#!/usr/bin/env bash
# A story of two tasks and an agent, told with curl. Beside the local service:
#
#   bash docs/examples/curl.sh
set -euo pipefail

url=${CREWBOARD_URL:-http://127.0.0.1:3000}
token=${CREWBOARD_TOKEN:-$(cat .crewboard/token)}

# call METHOD PATH [BODY [HEADER]]: sends a request and sets `status`, `headers` and `answer`.
call() {
  local arguments=(-sS -i --max-time 60 -X "$1" -H "Authorization: Bearer $token" -H 'Expect:')
  if [ -n "${3:-}" ]; then arguments+=(-H 'Content-Type: application/json' --data-binary "$3"); fi
  if [ -n "${4:-}" ]; then arguments+=(-H "$4"); fi
  answer=$(curl "${arguments[@]}" "$url$2" | tr -d '\r')
  headers=${answer%%$'\n\n'*} answer=${answer#*$'\n\n'}
  status=$(cut -d ' ' -f 2 <<<"${headers%%$'\n'*}")
}

# expect STATUS: ends the story where the service answers something else, and says what.
expect() {
  if [ "$status" != "$1" ]; then
    echo "$status instead of $1: $answer" >&2
    exit 1
  fi
}

# field NAME: the first value of that name in the answer. With jq at hand, use jq.
field() {
  local pattern="\"$1\":\"?([^\",}]*)"
  [[ $answer =~ $pattern ]] && echo "${BASH_REMATCH[1]}"
}

# header NAME: a header of the answer.
header() {
  grep -i "^$1:" <<<"$headers" | cut -d ' ' -f 2
}

# Two tasks, of which one waits for the other.
call POST /api/kanban-tasks '{"title":"Draw the landing page"}'
expect 201
design=$(field id)

# Under an Idempotency-Key a POST is carried out once, however often it is sent: keep the key until you have the answer.
key="Idempotency-Key: $(openssl rand -hex 16)"
new_task='{"title":"Build it","dependsOn":["'$design'"]}'
call POST /api/kanban-tasks "$new_task" "$key"
expect 201
build=$(field id)
call POST /api/kanban-tasks "$new_task" "$key"
expect 201
replayed=false
if [ "$(field id)" = "$build" ]; then replayed=$(header idempotency-replayed); fi
echo "created $design and $build; repeated: $replayed"

# Hire an agent. A refusal has a code to go by: here one of that name may be there already.
call POST /api/agents \
  '{"name":"builder","displayName":"Builder","category":"development","systemPrompt":"You build web pages."}'
if [ "$status" = 409 ] && [ "$(field code)" = name_taken ]; then
  echo 'builder is here already'
else
  expect 201
  echo 'hired builder'
fi

# It cannot begin yet: the details name each task that is in the way.
order='{"input":"Build the landing page.","taskId":"'$build'"}'
call POST /api/agents/builder/execute "$order"
expect 409
echo "refused: $status $(field code)"
echo "  ${answer#*\"details\":}"

# Change the first task, but only as it was read. Once it is changed the version that we read is out of date.
call GET "/api/kanban-tasks/$design"
etag=$(header etag)
call PATCH "/api/kanban-tasks/$design" '{"status":"done"}' "If-Match: $etag"
expect 200
echo "$design is $(field status)"
call PATCH "/api/kanban-tasks/$design" '{"status":"backlog"}' "If-Match: $etag"
expect 412
echo "refused: $status $(field code); read it again, then decide again"

# Now it can. The answer comes at once; the end is waited for, a minute at most.
call POST /api/agents/builder/execute "$order"
expect 200
execution=$(field executionId)
deadline=$(($(date +%s) + 60))
until call GET "/api/agents/builder/executions/$execution" && [ "$(field status)" != running ]; do
  if [ "$(date +%s)" -ge $deadline ]; then
    echo "$execution still runs" >&2
    exit 1
  fi
  sleep 1
done
echo "$execution has $(field status): $answer"

# All that builder has handed in and a person has to look at, page by page.
offset=0 total=1
while [ "$offset" -lt "$total" ]; do
  call GET "/api/kanban-tasks?status=up_for_review&assigned_agent=builder&limit=100&offset=$offset"
  expect 200
  tasks=$(grep -o '"id":"tk_[^"]*","title":"[^"]*"' <<<"$answer" || true)
  awk -F '"' 'NF { print "to review: " $4 " " $8 }' <<<"$tasks"
  total=$(field total) offset=$((offset + $(field limit)))
done
