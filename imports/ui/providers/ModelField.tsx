/** The default model: any name can be typed, and the known ones are offered with their context and price. */
import { useId } from 'react';
import type { ModelInfo } from '../../business/ai/domain/types/ProviderViews';
import { FormField } from '../components/form/FormField';
import type { CommandError } from '../components/useCommand';

export function ModelField({
  value,
  models,
  placeholder,
  problem,
  error,
  onChange,
}: {
  readonly value: string;
  readonly models: readonly ModelInfo[];
  readonly placeholder: string | undefined;
  /** Why the vendor's own list is missing. */
  readonly problem: string | undefined;
  readonly error: CommandError | undefined;
  readonly onChange: (value: string) => void;
}) {
  const listId = useId();
  const chosen = models.find(({ id }) => id === value);
  const known = chosen === undefined ? undefined : describeModel(chosen);
  const listed = models.length === 0 ? 'Type the name of a model.' : `${models.length} models to choose from.`;
  return (
    <FormField
      label="Default model"
      path="defaultModel"
      error={error}
      hint={known ?? (problem === undefined ? listed : `The vendor’s list could not be read: ${problem}`)}
    >
      {(attributes) => (
        <>
          <input
            {...attributes}
            type="text"
            list={listId}
            value={value}
            placeholder={placeholder ?? 'None: callers name one'}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={listId}>
            {models.map((model) => (
              <option key={model.id} value={model.id}>
                {describeModel(model)}
              </option>
            ))}
          </datalist>
        </>
      )}
    </FormField>
  );
}

/** "1.0M context · $2 in, $10 out per 1M tokens" */
function describeModel({ contextWindow, price }: ModelInfo): string {
  const context = contextWindow === undefined ? 'context unknown' : `${formatTokens(contextWindow)} context`;
  const cost = price === undefined ? 'price unknown' : `$${price.input} in, $${price.output} out per 1M tokens`;
  return `${context} · ${cost}`;
}

function formatTokens(tokens: number): string {
  if (tokens >= 999_500) return `${(tokens / 1_000_000).toFixed(1)}M`;
  return `${Math.round(tokens / 1_000)}k`;
}
