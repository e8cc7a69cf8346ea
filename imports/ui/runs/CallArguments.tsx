/** The arguments of a call that someone decides about. Long ones are loaded in full on demand. */
import { useMemo, useState } from 'react';
import { readJson } from '../../business/ai/domain/util/json';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';
import { formatCount } from '../format/format';
import { hasHidden } from '../format/hiddenCharacters';
import { JsonTree } from '../components/JsonTree';

export interface CallArgumentsProps {
  readonly call: Pick<ToolCallView, 'executionId' | 'callId' | 'arguments' | 'argumentsLength'>;
  readonly label: string;
  /** Whether the complete arguments are shown; undefined if the component decides itself. */
  readonly isComplete?: boolean;
  readonly onComplete?: () => void;
}

export function CallArguments({ call, label, isComplete, onComplete }: CallArgumentsProps) {
  const [isExpanded, setExpanded] = useState(false);
  const { executionId, callId, argumentsLength = call.arguments.length } = call;
  const isCut = isCutOff(call);
  const isShown = isComplete ?? isExpanded;
  const loaded = useData().useQuery('ai.runs.getCall', isCut && isShown ? { executionId, callId } : undefined);
  const complete = loaded.state === 'ready' ? loaded.value.arguments : undefined;
  const text = complete ?? call.arguments;
  const hidden = useMemo(() => holdsHidden(text), [text]);
  return (
    <div className="call-arguments">
      <JsonTree text={text === '' ? '{}' : text} label={label} />
      {hidden && (
        <p className="call-arguments-hidden" role="note">
          There are invisible characters in it, or such that reverse the direction of text. They are shown as escapes.
        </p>
      )}
      {isCut && complete === undefined && (
        <p className="call-arguments-cut">
          {loaded.state === 'failed' ? (
            <span className="form-error" role="alert">
              {loaded.error.message}
            </span>
          ) : (
            <span>
              {formatCount(call.arguments.length)} of {formatCount(argumentsLength)} characters are shown.
            </span>
          )}{' '}
          <button
            type="button"
            className="link-button"
            onClick={() => {
              setExpanded(true);
              onComplete?.();
              if (loaded.state === 'failed') loaded.retry();
            }}
            disabled={isShown && loaded.state === 'loading'}
          >
            {isShown && loaded.state === 'loading' ? 'Loading…' : 'Show all'}
          </button>
        </p>
      )}
    </div>
  );
}

/** Also if the text writes them as escapes of JSON, which the tool receives as characters. */
function holdsHidden(text: string): boolean {
  const value = readJson(text);
  // Cut arguments are no JSON.
  return hasHidden(value === undefined ? text : JSON.stringify(value));
}

/** What is shown of the arguments is not all of them. */
export function isCutOff({
  arguments: shown,
  argumentsLength = shown.length,
}: Pick<ToolCallView, 'arguments' | 'argumentsLength'>): boolean {
  return argumentsLength > shown.length;
}
