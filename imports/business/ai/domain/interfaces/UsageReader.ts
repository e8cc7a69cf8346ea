import type { UsageQuery, UsageReport } from '../types/UsageReports';

/** Computes reports in the store. */
export interface UsageReader {
  report(query: UsageQuery): Promise<UsageReport>;
}
