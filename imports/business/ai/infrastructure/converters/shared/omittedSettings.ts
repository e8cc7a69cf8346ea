import type { BuiltInTool } from '../../../domain/entities/Tool';

/** Warns about the settings of a built-in tool that its counterpart does not have. */
export function warnAboutSettings(
  tool: BuiltInTool,
  supported: readonly string[],
  counterpart: string,
  warnings: string[],
): void {
  const ignored = Object.keys(tool).filter(
    (key) => !supported.includes(key) && !['type', 'name', 'blocking', 'vendor'].includes(key) && tool[key] !== null,
  );
  if (ignored.length > 0)
    warnings.push(
      `Omitted settings of the tool "${tool.type}" that ${counterpart} does not have: ${ignored.join(', ')}.`,
    );
}
