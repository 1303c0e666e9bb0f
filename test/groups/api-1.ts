import { runAreas } from '../groups.ts';

runAreas(['api'], 1, 2);
