/** Decides whether a run defers tools, and which. */
import type { Tool } from '../../../../domain/entities/Tool';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../../domain/interfaces/IToolExecutor';
import { isObject } from '../../../../domain/util/json';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { ToolSearchPlan, ToolSearchSetting } from '../../../../domain/types/ToolSearch';
import type { ToolSet } from '../../tools/ToolSet';

const NAMES = ['search_tools', 'search_more_tools'] as const;
const DEFAULT_THRESHOLD = 50;

/**
 * @param requested `true` and undefined stand for the defaults
 * @throws LLMInvalidRequestError
 */
export function toolSearchOf(requested: unknown): ToolSearchSetting {
  if (requested === false) return false;
  if (requested === undefined || requested === true) return {};
  if (!isObject(requested)) throw invalid('', 'must be true, false or an object');
  for (const name of Object.keys(requested))
    if (name !== 'threshold') throw invalid(`.${name}`, 'is no option. Expected: threshold');
  const { threshold } = requested;
  if (threshold !== undefined && !(typeof threshold === 'number' && Number.isSafeInteger(threshold) && threshold >= 0))
    throw invalid('.threshold', 'must be a number of tools');
  return requested;
}

/** @returns undefined if the model is to be given all definitions */
export function planToolSearch(
  tools: ToolSet,
  choice: ToolChoice | undefined,
  setting: ToolSearchSetting,
  executor: IToolExecutor,
): ToolSearchPlan | undefined {
  // The vendor defers tools itself, or the caller says which tools may be called.
  if (setting === false || tools.tools.some(isVendorSearch) || isAllowList(choice)) return undefined;
  const defersAuto = tools.names.length > (setting.threshold ?? DEFAULT_THRESHOLD);
  if (deferredNames(tools, choice, { defersAuto }).size === 0) return undefined;
  const own = tools.names.find((each) => tools.get(each)?.definition.native?.type === 'tool_search');
  if (own !== undefined) return { name: own, defersAuto };
  const isFree = (each: string): boolean => tools.get(each) === undefined && !executor.hasToolFunction(each);
  const name = NAMES.find(isFree);
  return name === undefined ? undefined : { name, defersAuto };
}

/** A tool that the model must call is never deferred. */
export function deferredNames(
  tools: ToolSet,
  choice: ToolChoice | undefined,
  { defersAuto }: Pick<ToolSearchPlan, 'defersAuto'>,
): ReadonlySet<string> {
  const chosen = typeof choice === 'object' && 'name' in choice ? choice.name : undefined;
  const isDeferred = (name: string): boolean => {
    const { deferLoading = false } = tools.get(name)?.definition ?? {};
    return name !== chosen && (deferLoading === 'auto' ? defersAuto : deferLoading);
  };
  return new Set(tools.names.filter(isDeferred));
}

function isVendorSearch({ type }: Tool): boolean {
  return type === 'tool_search';
}

function isAllowList(choice: ToolChoice | undefined): boolean {
  return typeof choice === 'object' && choice.type === 'allowed_tools';
}

function invalid(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"toolSearch${path}" ${message}.`, { path: `toolSearch${path}` });
}
