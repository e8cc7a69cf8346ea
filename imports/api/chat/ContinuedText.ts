/**
 * Live text without what a client has already: a process that takes a run over repeats the model call that was in
 * progress.
 */
import { LLMConnectionError } from '../../business/ai/domain/errors/LLMErrors';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';

export class ContinuedText {
  private iteration = 0;
  /** What was passed on of each kind in the present model call. */
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
    if (event.type !== 'llm:delta') return event;
    const { kind, delta } = event;
    const sent = this.sent.get(kind) ?? '';
    const before = this.repeated?.get(kind) ?? (this.repeated === undefined ? sent : '');
    const now = before + delta;
    this.repeated?.set(kind, now);
    if (now.length <= sent.length) {
      if (!sent.startsWith(now)) throw differs();
      return undefined;
    }
    if (!now.startsWith(sent)) throw differs();
    this.sent.set(kind, now);
    return { ...event, delta: now.slice(sent.length) };
  }
}

function differs(): LLMConnectionError {
  return new LLMConnectionError(
    'The process that wrote this answer has ended, and another one has begun it anew. Resume the stream to read it.',
  );
}
