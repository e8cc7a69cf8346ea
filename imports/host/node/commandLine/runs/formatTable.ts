/** Text in columns, for terminals. */

/** Longer cells are cut. */
const MAX_WIDTH = 60;
/** What would move a terminal's cursor, or change its colours. */
const CONTROLS = /\p{C}+/gu;

/** @param rows the first one has the headings */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(toCell));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function toCell(text: string): string {
  const line = text.replace(CONTROLS, ' ');
  return line.length <= MAX_WIDTH ? line : `${line.slice(0, MAX_WIDTH - 1)}…`;
}

/** How long ago something was: `40s`, `12m`, `3h`, `2d`. */
export function formatAge(at: number | undefined, now: number): string {
  if (at === undefined) return '';
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
