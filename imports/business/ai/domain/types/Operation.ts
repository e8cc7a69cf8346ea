/** What people read and do, for any transport: a caller and an untrusted argument in, the result out. */
import type { Actor } from './Actor';

/** Validates its arguments, and throws LLMErrors whose `path` names the invalid field. */
export type Operation<R = unknown> = (actor: Actor, ...args: readonly unknown[]) => Promise<R>;
