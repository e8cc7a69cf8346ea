/** AG-UI events as server-sent events. https://docs.ag-ui.com/concepts/architecture */
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { AgentEvent, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { RunEventEncoder } from '../RunEventEncoder';
import type { AgUiEncoder } from './AgUiEncoder';
import type { AgUiEvent } from './AgUiEvents';

export class AgUiStreamEncoder implements RunEventEncoder {
  readonly headers = {};
  private encoder: AgUiEncoder;
  /** The events that the stream begins with. */
  private beginning: readonly AgUiEvent[];

  constructor(encoder: AgUiEncoder, past: readonly AgentEvent[] = []) {
    this.encoder = encoder;
    this.beginning = encoder.start(past);
  }

  /** Sends events before the next ones. */
  add(events: readonly AgUiEvent[]): void {
    this.beginning = [...this.beginning, ...events];
  }

  /** Continues the AG-UI run with another one of Bolide's. */
  goOn(encoder: AgUiEncoder): void {
    const [, ...started] = encoder.start();
    this.add(started);
    this.encoder = encoder;
  }

  push(event: FamilyEvent): readonly string[] {
    return this.frames(this.encoder.encode(event));
  }

  end(): readonly string[] {
    return this.frames(this.encoder.end());
  }

  fail({ code, message }: LLMError): readonly string[] {
    return this.frames(this.encoder.fail({ code, message }));
  }

  private frames(events: readonly AgUiEvent[]): readonly string[] {
    const all = [...this.beginning, ...events];
    this.beginning = [];
    return all.map(toAgUiFrame);
  }
}

export function toAgUiFrame(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
