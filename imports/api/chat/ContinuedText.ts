/**
 * Live text without what a client has already: a process that takes a run over repeats the model call that was in
 * progress.
 */
import { LLMConnectionError } from '../../business/ai/domain/errors/LLMErrors';
import { isDelta, textOfDelta } from '../../business/ai/domain/types/AgentEvents';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';

export class ContinuedText {
  private iteration = 0;
  /** What was passed on of each text in the present model call. */
  private sent = new Map<string, string>();
  /** What a repeated call has produced, until it has caught up. */
  private repeated: Map<string, string> | undefined;

  /** @returns undefined for text that is known @throws LLMConnectionError if a repeated call produces another text */
  next(event: AgentEvent): AgentEvent | undefined {
    if (event.type === 'iteration:start') {
      if (event.iteration === this.iteration && this.sent.size > 0) {
        this.repeated = new Map();
        return undefined;
      }
      this.iteration = event.iteration;
      this.sent = new Map();
      this.repeated = undefined;
    }
    if (event.type === 'llm:retry' && this.repeated !== undefined) this.repeated = new Map();
    if (!isDelta(event)) return event;
    const { delta } = event;
    const text = textOfDelta(event);
    const sent = this.sent.get(text) ?? '';
    const before = this.repeated?.get(text) ?? (this.repeated === undefined ? sent : '');
    const now = before + delta;
    this.repeated?.set(text, now);
    if (now.length <= sent.length) {
      if (!sent.startsWith(now)) throw differs();
      return undefined;
    }
    if (!now.startsWith(sent)) throw differs();
    this.sent.set(text, now);
    return { ...event, delta: now.slice(sent.length) };
  }
}

function differs(): LLMConnectionError {
  return new LLMConnectionError(
    'The process that wrote this answer has ended, and another one has begun it anew. Resume the stream to read it.',
  );
}
