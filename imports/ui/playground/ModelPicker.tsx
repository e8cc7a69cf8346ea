/** Chooses a provider and one of its models, or another model by its name. */
import { useId, useState } from 'react';
import type { ModelView } from '../../business/ai/domain/types/ModelViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { describeModel } from './describeModel';
import type { Lane } from './playgroundState';

export interface ModelPickerProps {
  readonly lane: Lane;
  readonly label: string;
  readonly providers: readonly PublicProvider[];
  readonly models: readonly ModelView[];
  readonly onChange: (providerId: string, model: string) => void;
}

/** Stands for a model whose name is typed. Names of models have no leading slash. */
const OTHER = '/other';

export function ModelPicker({ lane, label, providers, models, onChange }: ModelPickerProps) {
  const id = useId();
  const [isNaming, setIsNaming] = useState(false);
  const chosen = findModel(models, lane);
  const isOther = isNaming || (chosen === undefined && lane.model !== '');
  const facts = chosen === undefined ? 'Limits and prices of this model are not known.' : describeModel(chosen);
  return (
    <div className="model-picker">
      <select
        aria-label={label}
        aria-describedby={`${id}-facts`}
        name="model"
        value={isOther ? `${lane.providerId}${OTHER}` : `${lane.providerId}/${chosen?.model ?? ''}`}
        onChange={({ target: { value } }) => {
          const isNamed = value.endsWith(OTHER);
          setIsNaming(isNamed);
          const path = isNamed ? value.slice(0, -OTHER.length) : value;
          const slash = isNamed ? path.length : path.indexOf('/');
          onChange(path.slice(0, slash), path.slice(slash + 1));
        }}
      >
        {providers.map((provider) => (
          <optgroup key={provider._id} label={provider.name}>
            {models
              .filter(({ providerId }) => providerId === provider._id)
              .map(({ id: address, model = '', isDefault }) => (
                <option key={address} value={`${provider._id}/${model}`}>
                  {model === '' ? 'Default model' : model}
                  {isDefault ? ' (default)' : ''}
                </option>
              ))}
            {provider.allowedModels === undefined && (
              <option value={`${provider._id}${OTHER}`}>Another model of {provider.name}…</option>
            )}
          </optgroup>
        ))}
      </select>
      {isOther && (
        <input
          aria-label={`Name of the model for ${label.toLowerCase()}`}
          name="model-name"
          value={lane.model}
          onChange={(event) => onChange(lane.providerId, event.target.value.trim())}
          placeholder="Name of the model"
          maxLength={256}
          autoCapitalize="none"
          spellCheck={false}
          autoFocus={isNaming}
        />
      )}
      <p id={`${id}-facts`} className="model-facts muted" title={facts}>
        {facts}
      </p>
    </div>
  );
}

/** A blank name is the provider's default. */
export function findModel(
  models: readonly ModelView[],
  { providerId, model }: Pick<Lane, 'providerId' | 'model'>,
): ModelView | undefined {
  const own = models.filter((each) => each.providerId === providerId);
  return model === ''
    ? (own.find(({ isDefault }) => isDefault) ?? own.find((each) => each.model === undefined))
    : own.find((each) => each.model === model);
}
