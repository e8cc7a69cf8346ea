/** The fields of a run that is started again. */
import { useId } from 'react';
import { useData } from '../hooks/BolideProvider';
import type { AgainDraft } from './again';

export interface AgainFieldsProps {
  readonly draft: AgainDraft;
  readonly onChange: (draft: AgainDraft) => void;
  readonly isFork: boolean;
}

export function AgainFields({ draft, onChange, isFork }: AgainFieldsProps) {
  const id = useId();
  const data = useData();
  const providers = data.useQuery('ai.providers.list', {});
  const tools = data.useQuery('ai.tools.list', {});
  const models = data.useQuery('ai.models.list', {});
  const names = providers.state === 'ready' ? providers.value : [];
  const offered =
    models.state === 'ready' ? models.value.models.filter(({ providerId }) => providerId === draft.providerId) : [];
  const registered = tools.state === 'ready' ? tools.value.map(({ name }) => name) : [];
  // Tools that are no longer registered can only be taken away.
  const toolNames = [...new Set([...draft.tools, ...registered])];
  const set = (fields: Partial<AgainDraft>): void => onChange({ ...draft, ...fields });
  const toggle = (name: string): void => {
    const chosen = new Set(draft.tools);
    if (!chosen.delete(name)) chosen.add(name);
    set({ tools: chosen });
  };
  return (
    <>
      <div className="again-row">
        <label className="field" htmlFor={`${id}-provider`}>
          <span>Provider</span>
          <select
            id={`${id}-provider`}
            value={draft.providerId}
            onChange={(event) => set({ providerId: event.target.value, model: '' })}
          >
            {[...new Set([draft.providerId, ...names.map(({ _id }) => _id)])].map((each) => (
              <option key={each} value={each}>
                {names.find(({ _id }) => _id === each)?.name ?? each}
              </option>
            ))}
          </select>
        </label>
        <label className="field" htmlFor={`${id}-model`}>
          <span>Model</span>
          <input
            id={`${id}-model`}
            value={draft.model}
            onChange={(event) => set({ model: event.target.value })}
            placeholder="The provider’s default"
            list={`${id}-models`}
            autoCapitalize="none"
            spellCheck={false}
          />
          <datalist id={`${id}-models`}>
            {offered.map(({ model }) => model !== undefined && <option key={model} value={model} />)}
          </datalist>
        </label>
        <label className="field" htmlFor={`${id}-temperature`}>
          <span>Temperature</span>
          <input
            id={`${id}-temperature`}
            type="number"
            min={0}
            max={2}
            step="any"
            value={draft.temperature}
            onChange={(event) => set({ temperature: event.target.value })}
            placeholder="Default"
          />
        </label>
        <label className="field" htmlFor={`${id}-output`}>
          <span>Output tokens, at most</span>
          <input
            id={`${id}-output`}
            type="number"
            min={1}
            max={1_000_000}
            value={draft.maxOutputTokens}
            onChange={(event) => set({ maxOutputTokens: event.target.value })}
            placeholder="Default"
          />
        </label>
      </div>
      <label className="field" htmlFor={`${id}-instructions`}>
        <span>Instructions</span>
        <textarea
          id={`${id}-instructions`}
          rows={3}
          dir="auto"
          value={draft.instructions}
          onChange={(event) => set({ instructions: event.target.value })}
        />
      </label>
      <label className="field" htmlFor={`${id}-prompt`}>
        <span>{isFork ? 'Message to add (optional)' : 'Prompt'}</span>
        <textarea
          id={`${id}-prompt`}
          rows={isFork ? 3 : 6}
          dir="auto"
          value={draft.prompt}
          onChange={(event) => set({ prompt: event.target.value })}
        />
      </label>
      {toolNames.length > 0 && (
        <fieldset className="again-tools">
          <legend>Tools</legend>
          <div className="chips">
            {toolNames.map((name) => (
              <button
                key={name}
                type="button"
                className="chip"
                aria-pressed={draft.tools.has(name)}
                onClick={() => toggle(name)}
              >
                <bdi className="mono">{name}</bdi>
              </button>
            ))}
          </div>
        </fieldset>
      )}
    </>
  );
}
