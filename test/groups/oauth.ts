import { runAreas } from '../groups.ts';

runAreas(['oauth', 'console', 'mcp']);
