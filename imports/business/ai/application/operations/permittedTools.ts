/** The server's tools that an actor may use, for answers that offer all of them. */
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { Actor } from '../../domain/types/Actor';

/** @param access default: everyone may use every tool */
export async function permittedTools<T extends { readonly name: string }>(
  access: Pick<AccessPolicy, 'refusalOfTool'> | undefined,
  actor: Actor,
  tools: readonly T[],
): Promise<readonly T[]> {
  if (access?.refusalOfTool === undefined) return tools;
  const ask = access.refusalOfTool.bind(access);
  const refusals = await Promise.all(tools.map(({ name }) => ask(actor, name)));
  return tools.filter((_, index) => refusals[index] === undefined);
}
