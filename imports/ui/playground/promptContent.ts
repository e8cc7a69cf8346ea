/** Between the playground's state and what a saved prompt contains. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { PromptContent } from '../../business/prompts/domain/Prompts';
import type { PlaygroundAction, PlaygroundSettings, PlaygroundState } from './playgroundState';
import { NO_SETTINGS } from './playgroundState';
import { toRunSettings } from './toRequest';

/** The next message or, if it is blank, the last one. @param state without invalid settings */
export function toPromptContent({ settings, lanes: [lane], draft }: PlaygroundState): PromptContent {
  const input = draft.text === '' ? lane?.turns.at(-1)?.input?.text : draft.text;
  return omitUndefined({
    ...toRunSettings(settings),
    input: input === undefined || input === '' ? undefined : input,
    providerId: lane?.providerId,
    model: lane === undefined || lane.model === '' ? undefined : lane.model,
  });
}

/** The settings of a run or a prompt as they are typed. */
export function toSettings(content: Omit<PromptContent, 'input' | 'providerId' | 'model'>): PlaygroundSettings {
  const { instructions, temperature, maxOutputTokens, reasoning, schema, tools } = content;
  return {
    ...NO_SETTINGS,
    ...omitUndefined({
      instructions,
      temperature: temperature === undefined ? undefined : String(temperature),
      maxOutputTokens: maxOutputTokens === undefined ? undefined : String(maxOutputTokens),
      reasoning,
      schema: schema && JSON.stringify(schema, undefined, 2),
      tools,
    }),
  };
}

/**
 * What loads a prompt: its settings, its message as the next one, and its model in the first lane.
 * @param providerIds those that the user may use now
 */
export function toLoadActions(
  content: PromptContent,
  { lanes: [lane] }: PlaygroundState,
  providerIds: readonly string[],
): readonly PlaygroundAction[] {
  const { input = '', providerId, model = '' } = content;
  const isUsable = lane !== undefined && providerId !== undefined && providerIds.includes(providerId);
  return [
    { type: 'settings', change: toSettings(content) },
    { type: 'draft', change: { text: input } },
    ...(isUsable ? [{ type: 'target' as const, laneId: lane.id, providerId, model }] : []),
  ];
}
