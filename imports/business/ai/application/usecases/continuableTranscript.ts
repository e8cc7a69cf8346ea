/** The conversation of an ended run as the beginning of another run's input. */
import type { FunctionCallItem, Item } from '../../domain/types/ResponsesAPITypes';

/** Vendors require an output for every call, and a run that was cut off may have left some without one. */
export function continuableTranscript(transcript: readonly Item[]): readonly Item[] {
  const answered = new Set(transcript.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])));
  const unanswered = transcript.filter(
    (item): item is FunctionCallItem => item.type === 'function_call' && !answered.has(item.call_id),
  );
  return [
    ...transcript,
    ...unanswered.map(({ call_id, name }): Item => ({
      type: 'function_call_output',
      call_id,
      output: 'Error: The run ended before the call did.',
      status: 'completed',
      name,
      state: 'cancelled',
    })),
  ];
}
