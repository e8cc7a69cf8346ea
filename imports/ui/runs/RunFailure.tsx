/** Why a run failed: the code, its meaning, the message, and what to do. */
import type { RunError } from '../../business/ai/domain/types/RunViews';
import { ERROR_ADVICE } from '../format/errorAdvice';
import type { ErrorAdvice } from '../format/errorAdvice';
import { FoldedText } from '../components/FoldedText';

export function RunFailure({ error }: { readonly error: RunError }) {
  // A newer server may have codes that this page lacks.
  const known = ERROR_ADVICE[error.code] as ErrorAdvice | undefined;
  return (
    <div className="run-failure tone-red" role="alert">
      <p>
        <strong className="mono">{error.code}</strong> {known?.meaning}
      </p>
      <FoldedText text={error.message} label="the error" />
      {known !== undefined && (
        <p className="run-advice">
          {known.advice}
          {error.retryable === true && ' The same request may succeed if it is sent again.'}
        </p>
      )}
    </div>
  );
}
