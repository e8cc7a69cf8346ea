/** Creates or changes a routing rule. What is no number is sent as it is, for the server to refuse. */
import { useState } from 'react';
import { ROUTING_STRATEGIES } from '../../business/ai/domain/entities/RoutingRule';
import type { RoutingRuleView } from '../../business/ai/domain/types/RoutingViews';
import { FormDialog } from '../components/form/FormDialog';
import { SelectField, TextAreaField, TextField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { STRATEGIES } from './describeRule';
import { ruleOf, valuesOf } from './ruleValues';
import type { RuleValues } from './ruleValues';

const NUMBERS = [
  { name: 'timeout', label: 'Timeout of an attempt (ms)', path: 'timeout', placeholder: 'The provider’s' },
  {
    name: 'firstTokenTimeout',
    label: 'Timeout of the first token (ms)',
    path: 'firstTokenTimeout',
    placeholder: 'None',
  },
  { name: 'maxRetries', label: 'Retries per target', path: 'maxRetries', placeholder: '2' },
  { name: 'temperature', label: 'Default temperature', path: 'defaults.temperature', placeholder: 'The model’s' },
  {
    name: 'maxOutputTokens',
    label: 'Default output tokens',
    path: 'defaults.max_output_tokens',
    placeholder: 'The model’s',
  },
  { name: 'effort', label: 'Default reasoning effort', path: 'defaults.reasoning', placeholder: 'The model’s' },
] as const satisfies readonly { readonly name: keyof RuleValues; readonly [field: string]: string }[];

const SHOWN_FIELDS = [
  'name',
  'description',
  'targets',
  'strategy',
  ...NUMBERS.map(({ path }) => path),
  'defaults.instructions',
];

/** @param edited undefined: a new rule @param names of the rules that exist */
export function RuleDialog({
  edited,
  names,
  onClose,
}: {
  readonly edited: RoutingRuleView | undefined;
  readonly names: readonly string[];
  readonly onClose: () => void;
}) {
  const data = useData();
  const command = useCommand();
  const { error } = command;
  const [values, setValues] = useState<RuleValues>(() => valuesOf(edited));
  const set = (change: Partial<RuleValues>): void => setValues({ ...values, ...change });
  const isTaken = edited === undefined && names.includes(values.name.trim());
  return (
    <FormDialog
      title={edited === undefined ? 'New routing rule' : `Routing rule ${edited.name}`}
      command={command}
      fields={SHOWN_FIELDS}
      action="Save rule"
      isIncomplete={values.name.trim() === '' || values.targets.trim() === '' || isTaken}
      onSubmit={() => command.run(() => data.call('ai.routing.save', ruleOf(values, edited)), onClose)}
      onClose={onClose}
    >
      {edited === undefined && (
        <TextField
          label="Name"
          path="name"
          error={isTaken ? { path: 'name', message: 'There is a rule of this name.' } : error}
          hint="Requests use it as their model."
          value={values.name}
          onChange={(name) => set({ name })}
        />
      )}
      <TextAreaField
        label="Targets"
        path="targets"
        error={error}
        hint="One per line: provider/model, or a provider for its default model. A number after it is its weight."
        isCode
        rows={4}
        value={values.targets}
        onChange={(targets) => set({ targets })}
      />
      <SelectField
        label="Strategy"
        path="strategy"
        error={error}
        hint={STRATEGIES[values.strategy].hint}
        value={values.strategy}
        options={ROUTING_STRATEGIES.map((value) => ({ value, label: STRATEGIES[value].label }))}
        onChange={(value) => set({ strategy: ROUTING_STRATEGIES.find((each) => each === value) ?? 'fallback' })}
      />
      <fieldset className="limit-fields">
        <legend>Limits and defaults</legend>
        {NUMBERS.map(({ name, label, path, placeholder }) => (
          <TextField
            key={name}
            label={label}
            path={path}
            error={error}
            inputMode={name === 'effort' ? 'text' : 'decimal'}
            placeholder={placeholder}
            value={values[name]}
            onChange={(value) => set({ [name]: value })}
          />
        ))}
      </fieldset>
      <TextAreaField
        label="Default instructions"
        path="defaults.instructions"
        error={error}
        value={values.instructions}
        onChange={(instructions) => set({ instructions })}
      />
      <TextField
        label="Description"
        path="description"
        error={error}
        spellCheck
        value={values.description}
        onChange={(description) => set({ description })}
      />
      <label className="check-field">
        <input type="checkbox" checked={values.enabled} onChange={(event) => set({ enabled: event.target.checked })} />
        Enabled
      </label>
    </FormDialog>
  );
}
