import { badgeOf, badgeStyle } from './format/badge.ts';

/** The initials of an agent in a colour of its own. Its name is shown on hover, and read by screen readers. */
export function AgentBadge({ name }: { name: string }) {
  const { initials, hue } = badgeOf(name);
  return (
    <span className="agent-badge" title={name} style={badgeStyle(hue)}>
      <span className="visually-hidden">agent {name}</span>
      <span aria-hidden="true">{initials}</span>
    </span>
  );
}
