/** A rule's settings in words. */
import type { RoutingStrategy } from '../../business/ai/domain/entities/RoutingRule';
import type { RoutingRuleView } from '../../business/ai/domain/types/RoutingViews';
import { formatDuration, pluralize } from '../format/format';

export const STRATEGIES: Readonly<Record<RoutingStrategy, { readonly label: string; readonly hint: string }>> = {
  fallback: { label: 'Fallback', hint: 'The first target serves. The others follow, in their order, if it fails.' },
  weighted: { label: 'Weighted', hint: 'Targets share the requests in proportion to their weights.' },
  latency: { label: 'Lowest latency', hint: 'The target that has answered fastest serves.' },
};

/** ", 30 s per attempt, 1 retry" */
export function describeRule({
  timeout,
  firstTokenTimeout,
  maxRetries,
  defaults = {},
}: Pick<RoutingRuleView, 'timeout' | 'firstTokenTimeout' | 'maxRetries' | 'defaults'>): string {
  const names = Object.keys(defaults);
  return [
    ...(timeout === undefined ? [] : [`${formatDuration(timeout)} per attempt`]),
    ...(firstTokenTimeout === undefined ? [] : [`first token within ${formatDuration(firstTokenTimeout)}`]),
    ...(maxRetries === undefined ? [] : [maxRetries === 0 ? 'no retries' : pluralize(maxRetries, 'retry', 'retries')]),
    ...(names.length === 0 ? [] : [`default ${names.join(', ')}`]),
  ]
    .map((part) => `, ${part}`)
    .join('');
}
