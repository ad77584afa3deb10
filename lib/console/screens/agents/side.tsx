/** A text under its title, of one of two versions. */
export function Side({ title, text, isBad }: { title: string; text: string; isBad?: boolean }) {
  return (
    <div className="side-text">
      <p className="muted side-title">{title}</p>
      {text === '' ? <p className="muted">Empty</p> : <pre className={isBad ? 'failing' : undefined}>{text}</pre>}
    </div>
  );
}
