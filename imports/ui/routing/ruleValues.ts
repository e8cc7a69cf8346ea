/** A routing rule as the texts of a form. */
import type { RoutingRule, RoutingStrategy, RoutingTarget } from '../../business/ai/domain/entities/RoutingRule';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RoutingRuleView } from '../../business/ai/domain/types/RoutingViews';
import type { ArgumentOf } from '../data/operations';

export interface RuleValues {
  readonly name: string;
  readonly description: string;
  /** One per line, each with its weight after a space. */
  readonly targets: string;
  readonly strategy: RoutingStrategy;
  readonly timeout: string;
  readonly firstTokenTimeout: string;
  readonly maxRetries: string;
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly effort: string;
  readonly instructions: string;
  readonly enabled: boolean;
}

export function valuesOf(rule: RoutingRuleView | undefined): RuleValues {
  const { targets = [], defaults = {} } = rule ?? {};
  return {
    name: rule?.name ?? '',
    description: rule?.description ?? '',
    targets: targets.map(({ model, weight }) => (weight === undefined ? model : `${model} ${weight}`)).join('\n'),
    strategy: rule?.strategy ?? 'fallback',
    timeout: String(rule?.timeout ?? ''),
    firstTokenTimeout: String(rule?.firstTokenTimeout ?? ''),
    maxRetries: String(rule?.maxRetries ?? ''),
    temperature: String(defaults.temperature ?? ''),
    maxOutputTokens: String(defaults.max_output_tokens ?? ''),
    effort: defaults.reasoning?.effort ?? '',
    instructions: defaults.instructions ?? '',
    enabled: rule?.enabled ?? true,
  };
}

/** @param before the rule that is changed: its defaults that the form does not show stay */
export function ruleOf(
  values: RuleValues,
  before: Pick<RoutingRule, 'defaults'> | undefined,
): ArgumentOf<'ai.routing.save'> {
  const effort = values.effort.trim();
  const { top_p, prompt } = before?.defaults ?? {};
  const defaults = omitUndefined({
    top_p,
    prompt,
    ...number('temperature', values.temperature),
    ...number('max_output_tokens', values.maxOutputTokens),
    reasoning: effort === '' ? undefined : { effort },
    instructions: values.instructions.trim() === '' ? undefined : values.instructions,
  });
  return {
    name: values.name.trim(),
    targets: values.targets
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(targetOf),
    strategy: values.strategy,
    enabled: values.enabled,
    ...(values.description.trim() === '' ? {} : { description: values.description.trim() }),
    ...number('timeout', values.timeout),
    ...number('firstTokenTimeout', values.firstTokenTimeout),
    ...number('maxRetries', values.maxRetries),
    ...(Object.keys(defaults).length === 0 ? {} : { defaults }),
  };
}

function targetOf(line: string): RoutingTarget {
  const [model = '', ...weight] = line.trim().split(/\s+/);
  return { model, ...number('weight', weight.join(' ')) };
}

/** A text that is no number is sent as it is, for the server to refuse. */
function number<N extends string>(name: N, text: string): { readonly [K in N]?: number } {
  const given = text.trim();
  if (given === '') return {};
  const value: unknown = Number.isNaN(Number(given)) ? given : Number(given);
  return { [name]: value } as { readonly [K in N]: number };
}
