/**
 * The operator's rules on which users may use which tools. A tool that no rule names is open to everyone. One that
 * rules name is for admins and for those whom one of these rules admits.
 */
import type { User } from '../types/Actor';
import { matchesWildcard } from '../util/matchesWildcard';

export interface ToolRule {
  /** Names of the server's tools, and of tools that run at vendors as `hosted:web_search`. `*`: any characters. */
  readonly tools: readonly string[];
  /** User ids. */
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
  /** Teams of API tokens, as admins have set them. One must be that of the presented token. */
  readonly teams?: readonly string[];
  /** Where the operator has written the rule, for messages, such as `AI_TOOL_RULES[0]`. */
  readonly place: string;
}

/** A user, with the team of the API token that is presented. */
export interface ToolUser extends User {
  readonly team?: string;
}

/** The name of a vendor's own tool, in rules and in the lists of API tokens. No function of a model has a colon. */
export function hostedToolName(name: string): string {
  return `hosted:${name}`;
}

/** @returns the rules that name the tool */
export function rulesOn(rules: readonly ToolRule[], tool: string): readonly ToolRule[] {
  return rules.filter(({ tools }) => tools.some((pattern) => matchesWildcard(pattern, tool)));
}

export function admits({ users, roles, teams }: ToolRule, user: ToolUser): boolean {
  if (user.isAdmin === true || users?.includes(user.userId) === true) return true;
  if (user.team !== undefined && teams?.includes(user.team) === true) return true;
  return roles?.some((role) => user.roles?.includes(role) === true) === true;
}
