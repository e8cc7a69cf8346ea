/** The first model's conversation and the next message, or the last one, as a request that code is written from. */
import { useMemo } from 'react';
import type { ModelView } from '../../business/ai/domain/types/ModelViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import type { RunDetails } from '../data/DashboardData';
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { useData } from '../hooks/BolideProvider';
import { useRun } from '../hooks/useRun';
import { toMessages } from '../conversations/toMessages';
import type { CodeMessage, CodeRequest } from './codeRequest';
import { findModel } from './ModelPicker';
import type { PlaygroundState } from './playgroundState';
import { toAttachments } from './readTurn';
import { toRunSettings } from './toRequest';

export interface CodeRequestContext {
  readonly providers: readonly PublicProvider[];
  readonly tools: readonly ToolSummary[];
  readonly models: readonly ModelView[];
  /** Some setting is invalid. */
  readonly isInvalid: boolean;
}

/** @returns undefined as long as there is no message, or a setting is invalid */
export function useCodeRequest(
  { lanes: [lane], settings, draft }: PlaygroundState,
  { providers, tools, models, isInvalid }: CodeRequestContext,
): CodeRequest | undefined {
  const live = useRun(lane?.turns.findLast(({ executionId }) => executionId !== undefined)?.executionId);
  const apiUrl = useData().useApiUrl();
  const details = live.loaded.state === 'ready' ? live.loaded.value : undefined;
  return useMemo(() => {
    if (lane === undefined || isInvalid) return undefined;
    const hasDraft = draft.text.trim() !== '' || draft.attachments.length > 0;
    const past = details === undefined ? [] : pastMessages(details, hasDraft);
    const messages = hasDraft ? [...past, { role: 'user' as const, ...draft }] : past;
    if (messages.length === 0) return undefined;
    const provider = providers.find(({ _id }) => _id === lane.providerId);
    const { tools: names, ...options } = toRunSettings(settings);
    // A default may change with the next version.
    const model = findModel(models, lane)?.model ?? lane.model;
    const withModel = (name: string): string => (model === '' ? name : `${name}/${model}`);
    return {
      address: withModel(lane.providerId),
      vendorAddress: withModel(provider?.vendor ?? lane.providerId),
      settings: options,
      tools: tools.filter(({ name }) => names.includes(name)),
      messages,
      apiUrl,
    };
  }, [lane, settings, draft, providers, tools, models, isInvalid, details, apiUrl]);
}

/** @param isComplete the answer to the last message is part of it */
function pastMessages(details: RunDetails, isComplete: boolean): readonly CodeMessage[] {
  const messages = toMessages(details);
  const end = isComplete ? messages.length : messages.findLastIndex(({ role }) => role === 'user') + 1;
  return messages.slice(0, end).flatMap(({ role, parts }): readonly CodeMessage[] => {
    if (role === 'system') return [];
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
    const attachments = parts.flatMap((part) => (part.type === 'attachment' ? toAttachments(part) : []));
    return text === '' && attachments.length === 0 ? [] : [{ role, text, attachments }];
  });
}
