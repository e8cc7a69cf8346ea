/** Starts a run with the chosen provider, model, tools and prompt. */
import { useCallback, useId, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { useData } from '../hooks/BolideProvider';
import { newRequestId } from '../hooks/newRequestId';
import type { ToolSummary } from '../data/DashboardData';
import { useAction } from '../components/useAction';
import { suggestionsFor } from './suggestions';
import { ToolChoice } from './ToolChoice';

export interface PlaygroundFormProps {
  readonly providers: readonly PublicProvider[];
  readonly tools: readonly ToolSummary[];
  readonly onStarted: (executionId: string) => void;
}

export function PlaygroundForm({ providers, tools, onStarted }: PlaygroundFormProps) {
  const { commands } = useData();
  const id = useId();
  const [providerId, setProviderId] = useState(providers[0]?._id ?? '');
  const [model, setModel] = useState('');
  const [prompt, setPrompt] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const form = useRef<HTMLFormElement>(null);
  const provider = providers.find((each) => each._id === providerId);
  const start = useAction(
    useCallback(async () => {
      const request = {
        requestId: newRequestId(),
        providerId,
        input: prompt,
        tools: [...chosen],
        ...(model.trim() === '' ? {} : { model: model.trim() }),
      };
      const { executionId } = await commands.startRun(request);
      onStarted(executionId);
    }, [commands, providerId, prompt, chosen, model, onStarted]),
  );
  const submitByKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) form.current?.requestSubmit();
  };
  return (
    <form
      ref={form}
      className="card playground-form"
      aria-label="New run"
      onSubmit={(event) => {
        event.preventDefault();
        start.run();
      }}
    >
      <div className="field-row">
        <label className="field" htmlFor={`${id}-provider`}>
          <span>Provider</span>
          <select
            id={`${id}-provider`}
            name="provider"
            value={providerId}
            onChange={(event) => setProviderId(event.target.value)}
            required
          >
            {providers.map((each) => (
              <option key={each._id} value={each._id}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        <label className="field" htmlFor={`${id}-model`}>
          <span>Model</span>
          <input
            id={`${id}-model`}
            name="model"
            value={model}
            onChange={(event) => setModel(event.target.value)}
            placeholder={provider?.defaultModel ?? 'Provider’s default'}
            list={`${id}-models`}
            autoCapitalize="none"
            spellCheck={false}
          />
          <datalist id={`${id}-models`}>
            {(provider?.allowedModels ?? []).map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
      </div>
      <ToolChoice tools={tools} chosen={chosen} onChange={setChosen} />
      <label className="field" htmlFor={`${id}-prompt`}>
        <span>Prompt</span>
        <textarea
          id={`${id}-prompt`}
          name="prompt"
          rows={5}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          onKeyDown={submitByKey}
          placeholder="Ask anything"
          required
        />
      </label>
      {tools.length > 0 && (
        <div className="chips" role="group" aria-label="Examples">
          {suggestionsFor(tools).map((suggestion) => (
            <button
              key={suggestion.label}
              type="button"
              className="chip"
              onClick={() => {
                setPrompt(suggestion.prompt);
                setChosen(new Set(suggestion.tools));
              }}
            >
              {suggestion.label}
            </button>
          ))}
        </div>
      )}
      {start.error !== undefined && (
        <p className="form-error" role="alert">
          {start.error}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="button button-primary" disabled={start.isBusy || providerId === ''}>
          {start.isBusy ? 'Starting…' : 'Run'}
        </button>
        <span className="muted hint">Ctrl+Enter or ⌘+Enter</span>
      </div>
    </form>
  );
}
