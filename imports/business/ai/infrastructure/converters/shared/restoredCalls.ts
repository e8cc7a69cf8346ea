/** Calls in a stream that are announced once they are complete: what comes before has another form. */
import type { FunctionCallItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { restoreItems } from './RewrittenTools';

export class RestoredCalls {
  private readonly read: (item: OutputItem) => FunctionCallItem | undefined;
  /** Indexes of the items of the stream that are such calls. */
  private readonly indexes = new Set<number>();

  /** @param read returns undefined for an item that is no such call */
  constructor(read: (item: OutputItem) => FunctionCallItem | undefined) {
    this.read = read;
  }

  inEvent(event: ResponseStreamEvent): readonly ResponseStreamEvent[] {
    switch (event.type) {
      case 'response.completed':
        return [{ ...event, response: restoreItems(event.response, (item) => this.read(item) ?? item) }];
      case 'response.output_item.added':
        if (this.read(event.item) === undefined) return [event];
        this.indexes.add(event.output_index);
        return [];
      case 'response.tool_use.announced':
      case 'response.tool_use.delta':
      case 'response.tool_use.done':
        return this.indexes.has(event.output_index) ? [] : [event];
      case 'response.output_item.done': {
        const item = this.read(event.item);
        if (item === undefined) return [event];
        const { output_index } = event;
        const { call_id, name, status } = item;
        const announced: readonly ResponseStreamEvent[] = [
          { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
          { type: 'response.tool_use.announced', output_index, call_id, name },
        ];
        const ended: ResponseStreamEvent = { ...event, item };
        return status === 'incomplete'
          ? [...announced, ended]
          : [...announced, { type: 'response.tool_use.done', output_index, item }, ended];
      }
      default:
        return [event];
    }
  }
}
