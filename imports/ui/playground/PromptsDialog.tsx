/** Saves the playground's settings and message under a name, and loads what was saved. */
import { useCallback, useId, useState } from 'react';
import type { PromptContent, PromptDetailView, PromptView } from '../../business/prompts/domain/Prompts';
import { FormError } from '../components/FormError';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { Ago } from '../components/Elapsed';
import { useAction } from '../components/useAction';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { PromptLabels } from './PromptLabels';

export interface PromptsDialogProps {
  /** What would be saved; undefined as long as a setting is invalid. */
  readonly content: PromptContent | undefined;
  readonly onLoad: (prompt: PromptDetailView) => void;
  readonly onClose: () => void;
}

export function PromptsDialog({ content, onLoad, onClose }: PromptsDialogProps) {
  const data = useData();
  const id = useId();
  const isAdmin = useIsAdmin();
  const prompts = data.useQuery('ai.prompts.list', {});
  const [name, setName] = useState('');
  const [isShared, setIsShared] = useState(false);
  const [saved, setSaved] = useState<PromptView>();
  const save = useAction(
    useCallback(async () => {
      if (content === undefined) return;
      setSaved(await data.call('ai.prompts.save', { name, content, ...(isShared ? { shared: true } : {}) }));
    }, [data, name, content, isShared]),
  );
  return (
    <Dialog label="Prompts" className="playground-dialog" onClose={onClose}>
      <div className="dialog-head">
        <h2>Prompts</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="dialog-body">
        <form
          className="prompt-form"
          aria-label="Save the prompt"
          onSubmit={(event) => {
            event.preventDefault();
            save.run();
          }}
        >
          <div className="field">
            <label htmlFor={`${id}-name`}>Save as</label>
            <input
              id={`${id}-name`}
              value={name}
              onChange={(event) => setName(event.target.value)}
              maxLength={120}
              placeholder="Name"
              required
              list={`${id}-names`}
              autoComplete="off"
            />
            <datalist id={`${id}-names`}>
              {prompts.state === 'ready' &&
                prompts.value.prompts
                  .filter(({ shared }) => shared === isShared)
                  .map((prompt) => <option key={prompt._id} value={prompt.name} />)}
            </datalist>
          </div>
          {isAdmin && (
            <label className="check-field">
              <input type="checkbox" checked={isShared} onChange={(event) => setIsShared(event.target.checked)} />
              Everyone can load it
            </label>
          )}
          <div className="buttons">
            <button type="submit" className="button button-primary" disabled={save.isBusy || content === undefined}>
              Save
            </button>
            <span className="muted hint" role="status">
              {save.isBusy || saved === undefined
                ? 'A name that exists gets a new version. Images and files are not saved.'
                : `Saved as version ${saved.version} of “${saved.name}”.`}
            </span>
          </div>
          {content === undefined && <p className="form-error">Correct the settings first.</p>}
          <FormError error={save.error} />
        </form>
        <h3>Saved prompts</h3>
        <WhenLoaded loaded={prompts} what="the prompts">
          {({ prompts: list }) =>
            list.length === 0 ? (
              <p className="muted">None yet.</p>
            ) : (
              <ul className="prompt-list">
                {list.map((prompt) => (
                  <PromptRow key={prompt._id} prompt={prompt} isAdmin={isAdmin} onLoad={onLoad} />
                ))}
              </ul>
            )
          }
        </WhenLoaded>
      </div>
    </Dialog>
  );
}

interface PromptRowProps extends Pick<PromptsDialogProps, 'onLoad'> {
  readonly prompt: PromptView;
  readonly isAdmin: boolean;
}

function PromptRow({ prompt, isAdmin, onLoad }: PromptRowProps) {
  const { call } = useData();
  const { _id: promptId, name, version: newest, shared, updatedAt } = prompt;
  const [version, setVersion] = useState<number>();
  const [isRemoving, setIsRemoving] = useState(false);
  const shown = version ?? newest;
  const load = useAction(
    useCallback(async () => {
      onLoad(await call('ai.prompts.get', { promptId, version: shown }));
    }, [call, promptId, shown, onLoad]),
  );
  const remove = useAction(useCallback(() => call('ai.prompts.remove', { promptId }), [call, promptId]));
  // The server stores the last twenty, and those with a label.
  const latest = Array.from({ length: Math.min(newest, 20) }, (_, index) => newest - index);
  const versions = [...new Set([...latest, ...Object.values(prompt.labels)])].toSorted((one, other) => other - one);
  return (
    <li className="prompt-row" data-prompt={name}>
      <div className="prompt-name">
        <bdi>{name}</bdi>
        {shared && <span className="tag">shared</span>}
        <span className="muted">
          <Ago at={updatedAt} />
        </span>
      </div>
      <div className="buttons">
        {versions.length > 1 ? (
          <select
            aria-label={`Version of ${name}`}
            value={shown}
            onChange={(event) => setVersion(Number(event.target.value))}
          >
            {versions.map((each) => (
              <option key={each} value={each}>
                Version {each}
              </option>
            ))}
          </select>
        ) : (
          <span className="muted">Version {newest}</span>
        )}
        <span className="spacer" />
        {isRemoving ? (
          <>
            <button
              type="button"
              className="button button-danger"
              disabled={remove.isBusy}
              onClick={() => remove.run()}
            >
              Delete every version
            </button>
            <button type="button" className="button" onClick={() => setIsRemoving(false)}>
              Keep
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="button"
              disabled={load.isBusy}
              onClick={() => load.run()}
              aria-label={`Load ${name}`}
            >
              Load
            </button>
            <button
              type="button"
              className="button button-quiet"
              onClick={() => setIsRemoving(true)}
              aria-label={`Delete ${name}`}
            >
              Delete
            </button>
          </>
        )}
      </div>
      <PromptLabels prompt={prompt} version={shown} canChange={!shared || isAdmin} />
      <FormError error={load.error ?? remove.error} />
    </li>
  );
}
