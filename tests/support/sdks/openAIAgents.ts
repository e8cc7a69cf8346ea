/**
 * `@openai/agents` without the timers of its trace processors. They start with the import, set themselves anew for
 * ever, and would go off in the virtual time of another file's tests.
 */

const { setTimeout } = globalThis;
// Boundary: the processors use nothing of the timer but this method.
globalThis.setTimeout = (() => ({ unref: () => undefined })) as unknown as typeof setTimeout;
// oxlint-disable-next-line typescript/no-require-imports -- imports come before any statement
export const agents = require('@openai/agents') as typeof import('@openai/agents');
globalThis.setTimeout = setTimeout;
