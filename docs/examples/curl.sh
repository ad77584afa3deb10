#!/usr/bin/env bash
# Creates two tasks and an agent, and runs the agent, with curl. Start the local service first, then:
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

# expect STATUS: exits with the response if it has another status.
expect() {
  if [ "$status" != "$1" ]; then
    echo "$status instead of $1: $answer" >&2
    exit 1
  fi
}

# field NAME: prints the first value of a field in the response. If you have jq, use jq.
field() {
  local pattern="\"$1\":\"?([^\",}]*)"
  [[ $answer =~ $pattern ]] && echo "${BASH_REMATCH[1]}"
}

# header NAME: prints a header of the response.
header() {
  grep -i "^$1:" <<<"$headers" | cut -d ' ' -f 2
}

# Create two tasks. The second depends on the first.
call POST /api/kanban-tasks '{"title":"Draw the landing page"}'
expect 201
design=$(field id)

# With the same Idempotency-Key, a POST is carried out once. Keep the key until you have the response.
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

# Create an agent. It may already exist: decide by the error code, not by the message.
call POST /api/agents \
  '{"name":"builder","displayName":"Builder","category":"development","systemPrompt":"You build web pages."}'
if [ "$status" = 409 ] && [ "$(field code)" = name_taken ]; then
  echo 'builder already exists'
else
  expect 201
  echo 'created builder'
fi

# The task is blocked. `details` names each task that blocks it.
order='{"input":"Build the landing page.","taskId":"'$build'"}'
call POST /api/agents/builder/execute "$order"
expect 409
echo "rejected: $status $(field code)"
echo "  ${answer#*\"details\":}"

# Change the first task only if its version is still the version that was read. A second change with it is rejected.
call GET "/api/kanban-tasks/$design"
etag=$(header etag)
call PATCH "/api/kanban-tasks/$design" '{"status":"done"}' "If-Match: $etag"
expect 200
echo "$design is $(field status)"
call PATCH "/api/kanban-tasks/$design" '{"status":"backlog"}' "If-Match: $etag"
expect 412
echo "rejected: $status $(field code); read the task again, then decide again"

# The task is no longer blocked. The response does not wait for the execution, so poll it for at most a minute.
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
echo "$execution is $(field status): $answer"

# List the tasks of builder that a person must review, page by page.
offset=0 total=1
while [ "$offset" -lt "$total" ]; do
  call GET "/api/kanban-tasks?status=up_for_review&assigned_agent=builder&limit=100&offset=$offset"
  expect 200
  tasks=$(grep -o '"id":"tk_[^"]*","title":"[^"]*"' <<<"$answer" || true)
  awk -F '"' 'NF { print "to review: " $4 " " $8 }' <<<"$tasks"
  total=$(field total) offset=$((offset + $(field limit)))
done
