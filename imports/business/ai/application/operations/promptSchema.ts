/** Saved prompts as requests and routing rules name them. */
import * as v from 'valibot';
import { integer, line, object, text } from '../../../../host/schemas';
import { ARGUMENT_LIMITS } from './readArguments';

export const PROMPT_NAME_LENGTH = 120;

const LABEL_RULE = 'must be 1 to 32 lower-case letters, digits, "-" and "_", and start with a letter';

export const promptLabel = v.pipe(v.string(LABEL_RULE), v.regex(/^[a-z][a-z0-9_-]{0,31}$/, LABEL_RULE));

export const promptSchema = object({
  name: v.pipe(line(PROMPT_NAME_LENGTH), v.trim()),
  label: v.optional(promptLabel),
  version: v.optional(integer(1, Number.MAX_SAFE_INTEGER)),
  variables: v.optional(v.record(line(PROMPT_NAME_LENGTH), text(ARGUMENT_LIMITS.instructions))),
});
