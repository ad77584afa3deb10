import { describe, expect, it } from 'vitest';
import { type BadgeColour, badgeColours, badgeOf } from '../../../../lib/console/components/format/badge.ts';

/** Returns the relative luminance of a colour, as WCAG 2 defines it. What a screen cannot show is clipped. */
function luminanceOf({ lightness, chroma }: BadgeColour, hue: number): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const [red = 0, green = 0, blue = 0] = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => Math.min(Math.max(linear, 0), 1));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the badge of an agent', () => {
  it.each([
    ['frontend-builder', 'FB'],
    ['release-lead-050d6066', 'RL'],
    ['writer', 'WR'],
    ['x', 'X'],
  ])('of %s has the initials %s', (name, initials) => {
    expect(badgeOf(name).initials).toBe(initials);
  });

  it('has always the same hue for a name, and hues all around the circle for similar names', () => {
    expect(badgeOf('writer').hue).toBe(badgeOf('writer').hue);
    const sectors = Array.from({ length: 100 }, (_, nth) => Math.floor(badgeOf(`agent-${nth}`).hue / 30));
    expect(new Set(sectors).size).toBe(12);
  });

  it.each(['light', 'dark'] as const)('can be read in %s, whatever its hue', (theme) => {
    for (let hue = 0; hue < 360; hue++) {
      const text = luminanceOf(badgeColours.text[theme], hue);
      const background = luminanceOf(badgeColours.background[theme], hue);
      const contrast = (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
      expect(contrast, `hue ${hue}`).toBeGreaterThanOrEqual(4.5);
    }
  });
});
