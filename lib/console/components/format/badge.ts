/** A colour in the space OKLCH: lightness and chroma, each from 0 to 1. The hue is that of the badge. */
export type BadgeColour = { lightness: number; chroma: number };

/**
 * The colours of badges in both themes. All hues of OKLCH look equally light, so the text can be read on each of them.
 */
export const badgeColours = {
  background: { light: { lightness: 0.91, chroma: 0.045 }, dark: { lightness: 0.36, chroma: 0.055 } },
  text: { light: { lightness: 0.4, chroma: 0.09 }, dark: { lightness: 0.91, chroma: 0.04 } },
} satisfies Record<string, Record<'light' | 'dark', BadgeColour>>;

/** What stands for an agent where its name has no room. */
export type Badge = {
  /** Two letters: of the first two words of the name, or the first two of its only word. */
  initials: string;
  /** A hue from 0 to 359 degrees. It is always the same for a name. */
  hue: number;
};

/** Returns the badge of an agent with a name in kebab case. */
export function badgeOf(name: string): Badge {
  const [first = '', second] = name.split('-');
  const initials = second ? first.slice(0, 1) + second.slice(0, 1) : first.slice(0, 2);
  return { initials: initials.toUpperCase(), hue: hashOf(name) % 360 };
}

/** Returns the style of an element with the colours of a badge, in the theme of the page. */
export function badgeStyle(hue: number): { background: string; color: string } {
  const css = ({ lightness, chroma }: BadgeColour) => `oklch(${lightness} ${chroma} ${hue})`;
  const { background, text } = badgeColours;
  return {
    background: `light-dark(${css(background.light)}, ${css(background.dark)})`,
    color: `light-dark(${css(text.light)}, ${css(text.dark)})`,
  };
}

/** Returns the FNV-1a hash of a text, which differs much between names that differ little. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of new TextEncoder().encode(text)) hash = Math.imul(hash ^ unit, 0x01000193) >>> 0;
  return hash;
}
