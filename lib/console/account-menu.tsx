import { chooseTheme, type Theme, themes, useTheme } from './theme.ts';

/**
 * The organization of the token, as a button that opens the choice of the theme and sign-out. The browser closes it by Escape and
 * by a click elsewhere: the menus of other screens would make the first one much larger.
 */
export function AccountMenu({ organization, signOut }: { organization: string; signOut: () => void }) {
  const theme = useTheme();
  return (
    <>
      <button
        type="button"
        className="quiet account-button"
        popoverTarget="account-menu"
        aria-label={`Organization ${organization}`}
        title={`Organization ${organization}`}
      >
        <span className="ellipsis">{organization}</span>
      </button>
      <div id="account-menu" className="menu account-menu" popover="auto">
        <label className="field">
          <span>Theme</span>
          <select value={theme} onChange={({ target }) => chooseTheme(target.value as Theme)}>
            {themes.map((one) => (
              <option key={one} value={one}>
                {one[0]?.toUpperCase() + one.slice(1)} theme
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </div>
    </>
  );
}
