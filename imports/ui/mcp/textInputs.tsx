/** Inputs for one line of text and for several, neither of which the browser completes or corrects. */
import type { ControlAttributes } from '../components/form/FormField';

type TextControl = ControlAttributes & {
  readonly value: string;
  readonly isDisabled?: boolean;
  readonly onChange: (value: string) => void;
};

export function Line({ onChange, isDisabled = false, ...attributes }: TextControl) {
  return (
    <input
      {...attributes}
      disabled={isDisabled}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

export function Lines({ onChange, isDisabled = false, ...attributes }: TextControl) {
  return (
    <textarea
      {...attributes}
      className="mono"
      rows={2}
      disabled={isDisabled}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
