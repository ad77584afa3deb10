import { useMutation } from '@tanstack/react-query';
import { Failure } from '../../components/failure.tsx';
import { useNotices } from '../../components/notices.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { useSkillCatalogue, useSkills, useSkillsRefresh } from './agent-queries.ts';

/** The skills of the deployment: those of the agent first, then those that can be assigned. */
export function SkillsTab({ name }: { name: string }) {
  const canWrite = useScope('agents:write');
  const skills = useSkills(name);
  const catalogue = useSkillCatalogue();
  const failed = [skills, catalogue].find(({ isError }) => isError);
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!skills.data || !catalogue.data) return <Skeleton />;
  const assigned = new Set(skills.data.map(({ id }) => id));
  const others = catalogue.data.filter(({ id }) => !assigned.has(id));
  return (
    <div className="skills">
      <section aria-labelledby="assigned-skills">
        <h2 id="assigned-skills">Assigned</h2>
        {skills.data.length === 0 ? (
          <p className="muted">The agent has no skills.{canWrite && ' Assign one of the catalogue.'}</p>
        ) : (
          <ul className="panel rows">
            {skills.data.map((skill) => (
              <SkillRow key={skill.id} agent={name} skill={skill} assignedAt={skill.assignedAt} />
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="other-skills">
        <h2 id="other-skills">Catalogue</h2>
        {others.length === 0 ? (
          <p className="muted">The agent has all skills of the catalogue.</p>
        ) : (
          <ul className="panel rows">
            {others.map((skill) => (
              <SkillRow key={skill.id} agent={name} skill={skill} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

type SkillProps = {
  agent: string;
  skill: { id: string; name: string; description: string };
  /** Absent if the agent does not have the skill. */
  assignedAt?: string;
};

function SkillRow({ agent, skill, assignedAt }: SkillProps) {
  const client = useClient();
  const canWrite = useScope('agents:write');
  const { fail } = useNotices();
  const refresh = useSkillsRefresh(agent);
  const isAssigned = assignedAt !== undefined;
  const change = useMutation({
    mutationFn: async () => {
      if (isAssigned) await client.unassignSkill({ params: { name: agent, skillId: skill.id } });
      else await client.assignSkill({ params: { name: agent }, body: { skillId: skill.id } });
      await refresh();
    },
    onError: fail,
  });
  const verb = isAssigned ? 'Unassign' : 'Assign';
  return (
    <li className="row">
      <div>
        <strong>{skill.name}</strong>
        <p className="muted">
          {skill.description}
          {isAssigned && (
            <>
              {' '}
              Assigned <Ago at={assignedAt} />.
            </>
          )}
        </p>
      </div>
      {canWrite && (
        <button
          type="button"
          aria-label={`${verb} ${skill.name}`}
          disabled={change.isPending}
          onClick={() => change.mutate()}
        >
          {verb}
        </button>
      )}
    </li>
  );
}
