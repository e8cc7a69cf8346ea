/** What every run of the playground gets: instructions, limits, the schema of the answer, tools. */
import { useId } from 'react';
import type { ReactNode } from 'react';
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import type { PlaygroundSettings } from './playgroundState';
import { ToolChoice } from './ToolChoice';
import type { SettingProblems } from './toRequest';

export interface SettingsPanelProps {
  readonly settings: PlaygroundSettings;
  readonly problems: SettingProblems;
  readonly tools: readonly ToolSummary[];
  readonly onChange: (change: Partial<PlaygroundSettings>) => void;
}

/** The efforts that vendors have in common; a vendor refuses those that its model lacks. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

const SCHEMA_EXAMPLE = `{
  "type": "object",
  "properties": { "city": { "type": "string" } },
  "required": ["city"],
  "additionalProperties": false
}`;

export function SettingsPanel({ settings, problems, tools, onChange }: SettingsPanelProps) {
  const { instructions, reasoning, schema } = settings;
  const number = (name: 'temperature' | 'maxOutputTokens', label: string, inputMode: 'decimal' | 'numeric') => (
    <Field label={label} problem={problems[name]}>
      {(id, describedBy) => (
        <input
          id={id}
          name={name}
          inputMode={inputMode}
          value={settings[name]}
          onChange={(event) => onChange({ [name]: event.target.value })}
          placeholder="Default"
          aria-invalid={problems[name] !== undefined}
          {...describedBy}
        />
      )}
    </Field>
  );
  return (
    <div className="playground-settings">
      <Field label="Instructions">
        {(id) => (
          <textarea
            id={id}
            name="instructions"
            rows={4}
            dir="auto"
            value={instructions}
            onChange={(event) => onChange({ instructions: event.target.value })}
            placeholder="You are…"
          />
        )}
      </Field>
      <div className="field-row field-row-three">
        {number('temperature', 'Temperature', 'decimal')}
        {number('maxOutputTokens', 'Max tokens', 'numeric')}
        <Field label="Reasoning">
          {(id) => (
            <select
              id={id}
              name="reasoning"
              value={reasoning}
              onChange={(event) => onChange({ reasoning: event.target.value })}
            >
              <option value="">Default</option>
              {(reasoning === '' || EFFORTS.includes(reasoning) ? EFFORTS : [...EFFORTS, reasoning]).map((effort) => (
                <option key={effort} value={effort}>
                  {effort}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Answer as JSON (schema)" problem={problems.schema}>
        {(id, describedBy) => (
          <textarea
            id={id}
            name="schema"
            className="mono"
            rows={schema === '' ? 2 : 8}
            value={schema}
            onChange={(event) => onChange({ schema: event.target.value })}
            placeholder="A JSON Schema, or empty for text"
            spellCheck={false}
            autoCapitalize="none"
            aria-invalid={problems.schema !== undefined}
            {...describedBy}
          />
        )}
      </Field>
      {schema === '' && (
        <p className="settings-hint">
          <button type="button" className="link-button" onClick={() => onChange({ schema: SCHEMA_EXAMPLE })}>
            Start from an example schema
          </button>
        </p>
      )}
      <ToolChoice
        tools={tools}
        chosen={new Set(settings.tools)}
        onChange={(chosen) => onChange({ tools: [...chosen] })}
      />
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly problem?: string | undefined;
  readonly children: (id: string, describedBy: { readonly 'aria-describedby'?: string }) => ReactNode;
}

function Field({ label, problem, children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id, problem === undefined ? {} : { 'aria-describedby': `${id}-problem` })}
      {problem !== undefined && (
        <p id={`${id}-problem`} className="form-error">
          {problem}
        </p>
      )}
    </div>
  );
}
