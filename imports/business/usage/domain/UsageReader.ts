import type { UsageQuery, UsageReport } from './UsageReports';

/** Computes reports in the store. */
export interface UsageReader {
  report(query: UsageQuery): Promise<UsageReport>;
}
