/** The groups that a report sums up. */
export const OTHERS = 'All others';

/** @param name null for requests that failed before they had one */
export function groupLabel(name: string | null): string {
  return name ?? 'None';
}
