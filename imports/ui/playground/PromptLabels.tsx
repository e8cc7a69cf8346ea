/** The labels of a saved prompt, which say what requests that name it get. Whoever may change it moves them. */
import { useCallback, useState } from 'react';
import type { PromptView } from '../../business/prompts/domain/Prompts';
import { FormError } from '../components/FormError';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { useData } from '../hooks/BolideProvider';

export interface PromptLabelsProps {
  readonly prompt: PromptView;
  /** The version that a label is given to. */
  readonly version: number;
  readonly canChange: boolean;
}

export function PromptLabels({ prompt: { _id: promptId, name, labels }, version, canChange }: PromptLabelsProps) {
  const { call } = useData();
  const [label, setLabel] = useState('production');
  const change = useAction(
    useCallback(
      (moved: string, to: number | null) => call('ai.prompts.label', { promptId, label: moved, version: to }),
      [call, promptId],
    ),
  );
  const entries = Object.entries(labels);
  if (!canChange && entries.length === 0) return null;
  return (
    <div className="tag-editor">
      <ul className="chips" aria-label={`Labels of ${name}`}>
        {entries.map(([each, labelled]) => (
          <li key={each} className="tag-chip">
            <span>
              {each}: version {labelled}
            </span>
            {canChange && (
              <button
                type="button"
                disabled={change.isBusy}
                aria-label={`Remove the label ${each}`}
                onClick={() => change.run(each, null)}
              >
                <Icon name="cross" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {canChange && (
        <form
          className="tag-form"
          onSubmit={(event) => {
            event.preventDefault();
            change.run(label, version);
          }}
        >
          <input
            aria-label={`Label of ${name}`}
            value={label}
            onChange={(event) => setLabel(event.target.value)}
            maxLength={32}
            pattern="[a-z][a-z0-9_\-]*"
            title="Lower-case letters, digits, “-” and “_”, with a letter first"
            required
            autoComplete="off"
          />
          <button type="submit" className="button" disabled={change.isBusy}>
            Label version {version}
          </button>
        </form>
      )}
      <FormError error={change.error} />
    </div>
  );
}
