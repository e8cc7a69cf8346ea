/** Encodes the events of one run as the frames of another framework's protocol. */
import type { LLMError } from '../business/ai/domain/errors/LLMErrors';
import type { FamilyEvent } from '../business/ai/domain/types/AgentEvents';

export interface RunEventEncoder {
  /** Response headers of the protocol, with lower-case names, in addition to those of every event stream. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Takes each event once, in order, from `run:started` on. An `iteration:start` without an `llm:response` before it
   * restarts an interrupted model call, whose text so far is void.
   * @returns complete frames as they are written to the body
   */
  push(event: FamilyEvent): readonly string[];
  /**
   * Ends the stream. Without a `run:completed`, `run:failed` or `run:cancelled` before it, the run continues after
   * people have decided about its calls or have supplied their results.
   */
  end(): readonly string[];
  /** Ends the stream with an error that is not the run's own. */
  fail(error: LLMError): readonly string[];
}
