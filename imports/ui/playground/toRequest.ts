/** Turns the playground's settings, as they were typed, into the request for a run. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { Content, Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { StartRunRequest } from '../data/runRequests';
import { checkSchema } from './checkSchema';
import type { Lane, MessageInput, PlaygroundSettings } from './playgroundState';

/** The settings of a request, read from the text fields. */
export type RunSettings = Pick<
  StartRunRequest,
  'instructions' | 'temperature' | 'maxOutputTokens' | 'reasoning' | 'schema' | 'tools'
>;

/** What is wrong with a setting, by its name; empty if nothing is. */
export type SettingProblems = { readonly [S in keyof PlaygroundSettings]?: string };

export function checkSettings({ temperature, maxOutputTokens, schema }: PlaygroundSettings): SettingProblems {
  const degrees = Number(temperature);
  const tokens = Number(maxOutputTokens);
  const schemaProblem = schema.trim() === '' ? undefined : checkSchema(schema);
  return omitUndefined({
    temperature: temperature.trim() !== '' && !(degrees >= 0 && degrees <= 2) ? 'A number from 0 to 2.' : undefined,
    maxOutputTokens:
      maxOutputTokens.trim() !== '' && !(Number.isInteger(tokens) && tokens >= 1 && tokens <= 1_000_000)
        ? 'A whole number from 1 to 1,000,000.'
        : undefined,
    schema: schemaProblem,
  });
}

/** @param settings without problems */
export function toRunSettings(settings: PlaygroundSettings): RunSettings {
  const { instructions, temperature, maxOutputTokens, reasoning, schema, tools } = settings;
  return {
    tools,
    ...(instructions.trim() === '' ? {} : { instructions }),
    ...(temperature.trim() === '' ? {} : { temperature: Number(temperature) }),
    ...(maxOutputTokens.trim() === '' ? {} : { maxOutputTokens: Number(maxOutputTokens) }),
    ...(reasoning === '' ? {} : { reasoning }),
    // `checkSettings` has made sure that it is an object.
    ...(schema.trim() === '' ? {} : { schema: JSON.parse(schema) as JsonObject }),
  };
}

/** A plain text where that is enough, so that runs are easy to read. @param before what was said earlier */
export function toInput({ text, attachments }: MessageInput, before: readonly Item[] = []): LLMInput {
  const content: readonly Content[] = [
    ...attachments.map(({ kind, name, dataUrl = '' }): Content =>
      kind === 'image'
        ? { type: 'input_image', image_url: dataUrl }
        : { type: 'input_file', filename: name, file_data: dataUrl },
    ),
    ...(text === '' ? [] : [{ type: 'input_text' as const, text }]),
  ];
  if (attachments.length > 0) return [...before, { type: 'message', role: 'user', content }];
  return before.length === 0 ? text : [...before, { type: 'message', role: 'user', content: text }];
}

/**
 * @param position of the message in the lane; the run before it is continued
 * @param before what was said before the lane's first message, if that was an opened run
 */
export function toStartRequest(
  lane: Lane,
  settings: RunSettings,
  message: { readonly requestId: string; readonly input: MessageInput; readonly position: number },
  before: readonly Item[] = [],
): StartRunRequest {
  const { requestId, input, position } = message;
  const continues = lane.turns.slice(0, position).findLast(({ executionId }) => executionId !== undefined)?.executionId;
  return omitUndefined({
    requestId,
    providerId: lane.providerId,
    model: lane.model === '' ? undefined : lane.model,
    ...settings,
    conversationId: lane.conversationId,
    input: toInput(input, continues === undefined ? before : []),
    continues,
  });
}
