/** What a misspelt setting may have been meant to be. */
import type { Environment } from './environment';
import type { SettingProblems } from './SettingProblems';
import { METEOR_NAMES, VARIABLES } from './settingTables';

/** Other programs use these beginnings as well, so that only a name that resembles one of ours is a mistake. */
const PREFIXES =
  /^(?:BOLIDE|AI|LLM|RUNS|JOBS|OIDC|AUDIT|AUTH_FAILURES|REQUEST_LOG|RESPONSE|RESPONSES|CONVERSATIONS|MESSAGES|CHATS|MCP|STORAGE|SHUTDOWN|USER|CORS)_/i;
/** How much of a name may be wrong. Nobody else's variables begin with our own name. */
const TOLERANCE = 1 / 4;
const OWN_TOLERANCE = 1 / 3;

/** Adds a problem for each variable whose name is a misspelt one of ours. */
export function checkVariableNames(env: Environment, problems: SettingProblems): void {
  const known = new Set(VARIABLES);
  for (const name of Object.keys(env)) {
    if (known.has(name) || !PREFIXES.test(name) || (env[name] ?? '') === '') continue;
    const meant = closestName(name, VARIABLES, /^BOLIDE_/i.test(name) ? OWN_TOLERANCE : TOLERANCE);
    // The right one may be set beside it, for another program.
    if (meant !== undefined && !isExtended(name, meant))
      problems.add(name, `${name.slice(0, 100)} is not a variable of the server. Did you mean ${meant}?`);
  }
}

/** `JOBS_ENGINE_URL` is a name of its own. */
function isExtended(name: string, known: string): boolean {
  return name.startsWith(`${known}_`);
}

/** Adds a problem for each field of `Meteor.settings.ai` that there is not. */
export function checkMeteorNames(settings: Readonly<Record<string, unknown>>, problems: SettingProblems): void {
  for (const name of Object.keys(settings)) {
    if (METEOR_NAMES.includes(name)) continue;
    const meant = closestName(name, METEOR_NAMES, 1 / 2);
    const hint = VARIABLES.includes(name)
      ? 'It is read from the environment only.'
      : meant === undefined
        ? 'Remove it.'
        : `Did you mean ${meant}?`;
    problems.addField(name.slice(0, 100), `is not a setting. ${hint}`);
  }
}

/** @param tolerance the part of the name's characters that may be wrong; two may be in any name */
function closestName(name: string, names: readonly string[], tolerance: number): string | undefined {
  const given = name.toUpperCase();
  let closest: string | undefined;
  let least = Math.max(2, Math.floor(name.length * tolerance)) + 1;
  for (const each of names) {
    const distance = editDistance(given, each.toUpperCase());
    if (distance >= least) continue;
    closest = each;
    least = distance;
  }
  return closest;
}

/** Characters to insert, delete or replace, and neighbours to swap, to turn one into the other. */
export function editDistance(from: string, to: string): number {
  let [before, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
