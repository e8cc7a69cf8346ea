/** A model's limits, price and abilities in one line. */
import type { ModelView } from '../../business/ai/domain/types/ModelViews';

export function describeModel(model: ModelView): string {
  const { maxTokens, maxOutputTokens, price } = model;
  const abilities = ABILITIES.flatMap(([ability, label]) => (model[ability] ? [label] : []));
  return [
    `${formatTokens(maxTokens)} context`,
    `${formatTokens(maxOutputTokens)} output`,
    price === undefined
      ? 'price unknown'
      : `${formatPrice(price.input)} in, ${formatPrice(price.output)} out per million tokens`,
    abilities.join(', '),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

const ABILITIES = [
  ['supportsReasoning', 'reasoning'],
  ['supportsVision', 'images'],
  ['supportsFiles', 'files'],
  ['supportsTools', 'tools'],
  ['supportsJSONSchema', 'JSON Schema'],
] as const satisfies readonly (readonly [keyof ModelView, string])[];

/** 128k, 1.05M. */
function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1_000)}k`;
  return `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

function formatPrice(dollars: number): string {
  return `$${dollars < 0.1 ? dollars : dollars.toFixed(2)}`;
}
