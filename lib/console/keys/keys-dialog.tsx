import { Fragment } from 'react';
import { Modal } from '../components/dialogs/dialog.tsx';
import { useSession } from '../session.ts';
import { type KeyName, keyLabels, keyRow, keyTable } from './key-table.ts';
import { turnSingleKeys, useSingleKeys } from './single-keys.ts';
import { isMac } from './use-key.ts';

/** Lists the keys that the token can use, by screen, and turns those off that type a character. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { me } = useSession();
  const areOn = useSingleKeys();
  const names = (Object.keys(keyTable) as KeyName[]).filter((name) => {
    const { scope } = keyRow(name);
    return scope === undefined || me.scopes.includes(scope);
  });
  const screens = [...new Set(names.map((name) => keyRow(name).screen))];
  return (
    <Modal title="Keys" open onClose={onClose}>
      <div className="form">
        <label className="single-keys">
          <input type="checkbox" checked={areOn} onChange={({ target }) => turnSingleKeys(target.checked)} />
          <span>
            Single keys
            <span className="muted"> – letters and ? without Ctrl do something</span>
          </span>
        </label>
        {screens.map((screen) => (
          <section key={screen} aria-label={screen}>
            <h3>{screen}</h3>
            <dl className="keys">
              {names
                .filter((name) => keyRow(name).screen === screen)
                .map((name) => (
                  <Fragment key={name}>
                    <dt>
                      {keyLabels(name, isMac).map((label) => (
                        <kbd key={label}>{label}</kbd>
                      ))}
                    </dt>
                    <dd>{keyRow(name).does}</dd>
                  </Fragment>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
