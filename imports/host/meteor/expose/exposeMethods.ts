/** Offers methods and publications of a Meteor app as tools of runs, and over MCP. */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { invalid, listOf, line, optional, readObject } from '../../../business/ai/domain/util/arguments';
import { fieldsOf, isObject } from '../../../business/ai/domain/util/json';
import { matchesWildcard } from '../../../business/ai/domain/util/matchesWildcard';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { ExposedMethod } from '../../../business/ai/infrastructure/tools/MethodTools';
import { isReserved } from './isReserved';

/** What cannot be read of a method or a publication, or is to be otherwise. */
export type ExposedDetails = Partial<ExposedMethod>;

export interface ExposeOptions {
  /**
   * Names of methods, in which `*` stands for any characters. Accounts' methods, private ones, those for admins and
   * Bolide's own are only offered if they are named without `*`.
   */
  readonly include?: readonly string[];
  /** Names of methods and publications that are not offered, likewise. */
  readonly exclude?: readonly string[];
  /** Names of methods each call of which a person has to approve, likewise. */
  readonly needsApproval?: readonly string[];
  /**
   * Names of publications, likewise: each is a tool that reads what it publishes to the user, and a resource over MCP.
   */
  readonly publications?: readonly string[];
  /** By name of a method or a publication. */
  readonly details?: Readonly<Record<string, ExposedDetails>>;
}

const FIELDS = ['include', 'exclude', 'needsApproval', 'publications', 'details'] as const;
const DETAILS = [
  ...[
    'name',
    'description',
    'parameters',
    'toArguments',
    'blocking',
    'timeout',
    'sequential',
    'idempotent',
    'readOnly',
  ],
  ...[
    'needsApproval',
    'untrusted',
    'delivery',
    'onDuplicate',
    'onChange',
    'deferLoading',
    'strict',
    'output_schema',
    'allowed_callers',
  ],
] as const;
const NAMES = listOf(1_000, line(512));

export type Exposure = Required<ExposeOptions>;

/** What the app has exposed: code of the app, like its methods, which outlives a host. */
export const exposures: Exposure[] = [];

/**
 * Offers methods to runs and over MCP: `exposeMethods({ include: ['orders.*'], needsApproval: ['orders.cancel'] })`. To
 * be called before `startBolide`, which finds the methods; several calls add up.
 * @throws LLMInvalidRequestError, whose `path` names the invalid option
 */
export function exposeMethods(options: ExposeOptions): void {
  exposures.push(readOptions(options));
}

/** The names that patterns choose; of reserved ones, those that they are equal to. */
export function chosen(patterns: readonly string[], names: readonly string[]): readonly string[] {
  return names.filter((name) =>
    isReserved(name) ? patterns.includes(name) : patterns.some((pattern) => matchesWildcard(pattern, name)),
  );
}

/** @throws LLMInvalidRequestError for a pattern that no name matches: most likely, it is misspelt */
export function assertAllUsed(
  option: keyof ExposeOptions,
  patterns: readonly string[],
  names: readonly string[],
): void {
  const unused = patterns.filter((pattern) => !names.some((name) => matchesWildcard(pattern, name)));
  if (unused.length === 0) return;
  throw new LLMInvalidRequestError(
    `exposeMethods: "${option}" names ${unused.map((name) => `"${name}"`).join(', ')}, but nothing of that name is there. Correct the name, or define it before startBolide is called.`,
    { path: option },
  );
}

function readOptions(options: unknown): Exposure {
  const fields = readObject(options, FIELDS);
  const {
    include = [],
    exclude = [],
    needsApproval = [],
    publications = [],
  } = {
    ...optional(fields, 'include', NAMES),
    ...optional(fields, 'exclude', NAMES),
    ...optional(fields, 'needsApproval', NAMES),
    ...optional(fields, 'publications', NAMES),
  };
  if (include.length === 0 && publications.length === 0)
    throw invalid('include', 'must name the methods to offer, such as ["orders.*"], unless "publications" names some');
  return { include, exclude, needsApproval, publications, details: readDetails(fields['details']) };
}

function readDetails(details: unknown = {}): Readonly<Record<string, ExposedDetails>> {
  if (!isObject(details)) throw invalid('details', 'must be an object whose keys are names of methods');
  for (const [name, given] of Object.entries(details)) readObject(given, DETAILS, `details.${name}`);
  return Object.fromEntries(
    Object.entries(details).map(([name, given]) => [name, omitUndefined(fieldsOf(given)) as ExposedDetails]),
  );
}
