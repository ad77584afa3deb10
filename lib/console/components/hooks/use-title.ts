import { useEffect, useRef } from 'react';

/** The titles of what is on the screen, that in front last: a panel is in front of its screen. */
const titles: { text: string }[] = [];

function showTitle(): void {
  const text = titles.at(-1)?.text;
  document.title = text === undefined ? 'Crewboard' : `${text} · Crewboard`;
}

/** Gives the page a title while the component is on the screen. Another one that appears later is in front of it. */
export function useTitle(text: string): void {
  const { current: title } = useRef({ text });
  useEffect(() => {
    titles.push(title);
    showTitle();
    return () => {
      titles.splice(titles.indexOf(title), 1);
      showTitle();
    };
  }, [title]);
  useEffect(() => {
    title.text = text;
    showTitle();
  }, [title, text]);
}
