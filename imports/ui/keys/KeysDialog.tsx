/** The list of keys: those of the page that is shown, and those that work everywhere. */
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { keyName } from './keyName';
import { useKeyGroups } from './keyBindings';

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const groups = useKeyGroups();
  // A page and its parts may register keys under the same heading.
  const names = [...new Set(groups.map(({ name }) => name))];
  return (
    <Dialog label="Keyboard shortcuts" className="keys-dialog" onClose={onClose}>
      <div className="dialog-head">
        <h2>Keyboard shortcuts</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="key-groups">
        {names.map((name) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {groups
                .filter((group) => group.name === name)
                .flatMap(({ bindings }) => bindings)
                .map(({ key, label }) => (
                  <div key={key}>
                    <dt>
                      <kbd>{keyName(key)}</kbd>
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
