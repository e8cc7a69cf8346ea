/** Routing rules as admins and the settings give them. */
import * as v from 'valibot';
import { boolean, integer, line, listOf, numberBetween, object, oneOf, text, textOr } from '../../../../host/schemas';
import { MAX_RULE_TARGETS, ROUTING_STRATEGIES } from '../../domain/entities/RoutingRule';
import type { RoutingTarget } from '../../domain/entities/RoutingRule';
import { promptSchema } from './promptSchema';

const MAX_NAME_LENGTH = 128;
const MAX_MODEL_LENGTH = 256;
const MAX_MILLISECONDS = 3_600_000;
const MAX_TOKENS = 10_000_000;
const MAX_INSTRUCTIONS = 100_000;

const NAME_RULE = `must be 1 to ${MAX_NAME_LENGTH} letters, digits and characters of "._:@-", and start with a letter or digit`;

/** A name has no slash, so that it never looks like `provider/model`. */
export const ruleName = v.pipe(
  v.string(NAME_RULE),
  v.maxLength(MAX_NAME_LENGTH, NAME_RULE),
  v.regex(/^[A-Za-z0-9][\w.:@-]*$/, NAME_RULE),
);

const MODEL_RULE = 'must be "provider/model", or "provider" for its default model';

const model = v.pipe(
  v.string(MODEL_RULE),
  v.maxLength(MAX_MODEL_LENGTH, MODEL_RULE),
  v.regex(/^[A-Za-z0-9][\w.-]*(?:\/[^\s\p{C}]+)?$/u, MODEL_RULE),
);

/** A target may be its model alone. */
const target = textOr(
  v.pipe(
    model,
    v.transform((given): RoutingTarget => ({ model: given })),
  ),
  object({ model, weight: v.optional(numberBetween(0, 1_000_000)) }),
);

const targets = v.pipe(
  listOf(MAX_RULE_TARGETS, target),
  v.nonEmpty('must be a list with at least one target'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const models = value.map((each) => each.model);
    const key = models.findIndex((each, index) => models.indexOf(each) < index);
    const repeated = value[key];
    if (repeated === undefined) return;
    addIssue({
      message: 'is the same as that of an earlier target',
      path: [
        { type: 'array', origin: 'value', input: value, key, value: repeated },
        { type: 'object', origin: 'value', input: { ...repeated }, key: 'model', value: repeated.model },
      ],
    });
  }),
  v.check((given) => !given.every(({ weight }) => weight === 0), 'must have a target with a weight above 0'),
);

const milliseconds = v.optional(integer(1, MAX_MILLISECONDS));

export const ruleFields = {
  description: v.optional(line(500)),
  targets,
  strategy: v.optional(oneOf(ROUTING_STRATEGIES), 'fallback'),
  timeout: milliseconds,
  firstTokenTimeout: milliseconds,
  maxRetries: v.optional(integer(0, 10)),
  defaults: v.optional(
    object({
      temperature: v.optional(numberBetween(0, 2)),
      top_p: v.optional(numberBetween(0, 1)),
      max_output_tokens: v.optional(integer(1, MAX_TOKENS)),
      reasoning: v.optional(object({ effort: line(20) })),
      instructions: v.optional(text(MAX_INSTRUCTIONS)),
      prompt: v.optional(promptSchema),
    }),
  ),
  enabled: v.optional(boolean, true),
};
